// `node scripts/bootstrap.mjs <script> [arguments]` installs packages and builds sources if necessary, then runs the script
// in this terminal. It needs only Node.
//
// This file uses old syntax and no static imports, so that an old Node prints a clear message instead of a syntax error.

// Must come first: without a handler, Node opens its debugger on SIGUSR1.
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
