	let	x = 	;
