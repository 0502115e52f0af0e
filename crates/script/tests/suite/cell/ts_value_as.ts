value as number
