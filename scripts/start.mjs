// `npm start [-- command …]`: the command line of the checkout. Without a command it serves: whoever starts something
// wants to see it run, and options alone are options of that. What this checkout can do besides, `npm start -- --help` says.

// First of all: without a handler Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

const OWN = ['-h', '--help', '-V', '--version']
const [first] = process.argv.slice(2)
if (first === undefined || (first.startsWith('-') && !OWN.includes(first))) process.argv.splice(2, 0, 'serve')
await import('../dist/cli/main.js')
