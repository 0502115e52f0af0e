for (const x of xs) x
