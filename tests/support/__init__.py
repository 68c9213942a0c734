"""What tests share: the oracle and its tolerances, states, models, stages; pytest fixtures stand in conftest."""
