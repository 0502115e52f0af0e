(class {})
