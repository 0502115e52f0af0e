return "for(;;){}" + 'while(1)' + `do{}while(1) ${"for(;;)"}` // for(;;)
