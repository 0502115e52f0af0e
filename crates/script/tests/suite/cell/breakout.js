}); evil(async function(){
