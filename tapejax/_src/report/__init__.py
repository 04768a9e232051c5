"""Reports and the command line: looks at everything, is needed by nothing below."""
