"""x"""
def check_fits(task): pass
