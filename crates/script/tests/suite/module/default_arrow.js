export default (a) => { while (a) a-- }
