var input = input || 2
return input
