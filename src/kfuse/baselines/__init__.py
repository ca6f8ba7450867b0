"""The methods that kFuse is compared with."""
