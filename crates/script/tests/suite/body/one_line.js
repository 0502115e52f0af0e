for(;;)for(;;)while(1)do{}while(0)
