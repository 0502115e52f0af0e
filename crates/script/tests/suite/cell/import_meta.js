const here = import.meta.url
