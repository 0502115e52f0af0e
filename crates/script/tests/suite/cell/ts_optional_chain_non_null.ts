const v: any = a?.b!.c
v
