function final_answer() {}
