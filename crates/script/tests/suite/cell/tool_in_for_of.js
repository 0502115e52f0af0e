for (final_answer of x) ;
