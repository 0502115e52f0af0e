(function anonymous(a,b
) {
for (;;) ;
})
