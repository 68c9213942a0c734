"""Tasks: `task` says what one is; `cartpole`, `hopper`, `half_cheetah`, `ant`, `humanoid`, `quadruped`, `arm`."""
