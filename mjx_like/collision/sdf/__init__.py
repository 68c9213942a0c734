"""Contacts with signed distance fields: `geom_sdf` evaluates a geom's field, `mesh_sdf` descends into it."""
