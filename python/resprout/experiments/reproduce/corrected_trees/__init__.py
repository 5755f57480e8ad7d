"""Corrected Trees for Reliable Group Communication (PPoPP 2019), a file for each figure."""
