"""An agent's turn through an execution plan: it lands whole, or not at all."""
