const text = await readTool('test.txt');
final_answer(text + ' was read successfully');
