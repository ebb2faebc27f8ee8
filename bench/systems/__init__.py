"""What is measured: one adapter for each system, all behind the port `System`."""
