export default function main() { return helper() }
function helper() { return 1 }
