// `npm run security`: checks the lockfile, the licenses, the advisories and that the tests of the threat model exist, and
// writes the SBOM. The exit code is 1 if there are findings. If the registry can't be reached, the advisories are reported as
// not run; with `--online`, that is a failure.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { askForAdvisories, checkBorne, judgeAdvisories } from './security/advisories.mjs'
import { checkLicences } from './security/licences.mjs'
import { checkLockfile } from './security/lockfile.mjs'
import { readCheckout, shippedPackages } from './security/packages.mjs'
import { checkProofs, proofsIn } from './security/proofs.mjs'
import { sbomOf, sbomText } from './security/sbom.mjs'

const USAGE = `usage: npm run security [-- --offline | --online]

  --offline  do not ask the registry for advisories
  --online   fail when the registry cannot be asked
`
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const SBOM = 'dist/sbom.cdx.json'

const options = process.argv.slice(2)
if (options.some((option) => option !== '--offline' && option !== '--online') || options.length > 1) {
  process.stderr.write(USAGE)
  process.exitCode = 2
} else {
  process.exitCode = await main(options[0] ?? null)
}

async function main(mode) {
  const checkout = readCheckout(root)
  const shipped = shippedPackages(checkout)
  const today = new Date().toISOString().slice(0, 10)
  const borne = JSON.parse(readFileSync(path.join(root, 'scripts/security/borne-advisories.json'), 'utf8'))
  const findings = [
    ...report('lockfile', checkLockfile(checkout)),
    ...report('licenses of shipped packages', checkLicences(shipped)),
    ...report('list of accepted advisories', checkBorne(borne, today)),
    ...writeSbom(checkout),
    ...report(
      `tests named in the threat model exist (${proofsIn(root).length}); npm test runs them`,
      checkProofs(root),
    ),
  ]
  const asked = mode === '--offline' ? { kind: 'not_run', why: 'not asked' } : await askForAdvisories(root)
  if (asked.kind === 'told') {
    const { flaws, notes } = judgeAdvisories({ advisories: asked.advisories, shipped, borne, today })
    for (const note of notes) process.stdout.write(`        ${note}\n`)
    findings.push(...report(`advisories (${asked.advisories.length} reported)`, flaws))
  } else {
    process.stdout.write(`not run advisories: ${asked.why}\n`)
    if (mode === '--online') findings.push('the registry could not be queried for advisories')
  }
  const last = asked.kind === 'told' ? '' : '; advisories not run'
  process.stdout.write(
    `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'} in ${shipped.length} packages${last}\n`,
  )
  return findings.length === 0 ? 0 : 1
}

function report(name, flaws) {
  process.stdout.write(`${flaws.length === 0 ? 'ok     ' : 'FAILED '} ${name}\n`)
  for (const flaw of flaws) process.stdout.write(`        ${flaw}\n`)
  return flaws
}

function writeSbom(checkout) {
  mkdirSync(path.join(root, 'dist'), { recursive: true })
  writeFileSync(path.join(root, SBOM), sbomText(checkout))
  process.stdout.write(`ok      ${SBOM}: ${sbomOf(checkout).components.length} components\n`)
  return []
}
