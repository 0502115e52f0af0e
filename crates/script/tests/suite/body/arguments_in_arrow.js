const f = () => arguments
return f()
