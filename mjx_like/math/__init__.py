"""Mathematics on trailing axes: every function broadcasts over the leading ones."""
