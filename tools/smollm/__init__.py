"""SmolLM2 in NumPy, with attention through flashmetal: the program behind ``tools/generate.py``."""
