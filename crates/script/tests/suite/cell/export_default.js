let a
export default a
