"""The state: `initial` (make_data, reset), `batch` (many worlds), `difference` (of states), `vector` (get_state,
set_state), `history` (buffers of delayed signals), `memory` (bytes of
a world)."""
