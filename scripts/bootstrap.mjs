// The front door of a checkout: `node scripts/bootstrap.mjs <script> [arguments]` makes sure that packages are installed
// and sources are built, then runs the script in this terminal. It needs nothing but Node itself.
//
// This file stays in old syntax and imports nothing at the top, so that an old Node reads it far enough to be refused
// with a sentence instead of a syntax error.

// First of all: without a handler Node opens its debugger on SIGUSR1.
const ignoreUntilChildRuns = () => {}
process.on('SIGUSR1', ignoreUntilChildRuns)

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const supported = major > 20 || (major === 20 && minor >= 19)

if (supported) {
  import('./bootstrap/main.mjs').then(({ main }) => main(process.argv.slice(2)))
} else {
  process.stderr.write(
    `Escapement needs Node 20.19 or newer; this is Node ${process.versions.node}. Install a newer Node and run the command again.\n`,
  )
  process.exitCode = 1
}
