// `npm start [-- command …]`: the command line of the checkout. Without a command, or with options only, it runs `serve`.
// `npm start -- --help` shows help.

// Must come first: without a handler, Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

const OWN = ['-h', '--help', '-V', '--version']
const [first] = process.argv.slice(2)
if (first === undefined || (first.startsWith('-') && !OWN.includes(first))) process.argv.splice(2, 0, 'serve')
await import('../dist/cli/main.js')
