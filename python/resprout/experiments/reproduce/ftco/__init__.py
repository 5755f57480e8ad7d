"""The figures and tables of FTCO that stand on its authors' simulator."""
