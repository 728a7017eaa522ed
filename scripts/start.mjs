// `npm start [-- command …]`: the command line of the checkout. Without a command it serves: whoever starts something
// wants to see it run. What this checkout can do besides, `npm start -- --help` says.

// First of all: without a handler Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

if (process.argv.length === 2) process.argv.push('serve')
await import('../dist/cli/main.js')
