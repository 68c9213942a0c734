"""The state: `initial` (make_data, reset), `vector` (get_state, set_state), `history` (buffers of delayed signals)."""
