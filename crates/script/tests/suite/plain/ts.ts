for (const x of y as T[]) f(x)
return z!
