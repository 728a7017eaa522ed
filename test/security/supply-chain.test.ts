import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'
import { loadScripts, type Borne, type Checkout } from './scripts.ts'

// What `npm run security` looks at, and that it would find what it looks for. Nothing here asks anybody.

const scripts = await loadScripts()
const { checkLockfile, checkLicences, isCompatible, sbomOf, sbomText, checkBorne } = scripts
const checkout = scripts.readCheckout(ROOT)
const shipped = scripts.shippedPackages(checkout)

type Entry = Checkout['lock']['packages'][string]

/** The same checkout with one package changed. */
function changed(place: string, change: Partial<Entry>): Checkout {
  const { lock } = checkout
  const packages = { ...lock.packages, [place]: { ...lock.packages[place], ...change } }
  return { ...checkout, lock: { ...lock, packages } }
}

describe('the lockfile', () => {
  it('has everything once looked at and nothing else', () => {
    expect(checkLockfile(checkout)).toEqual([])
  })

  it.each<readonly [string, Partial<Entry>]>([
    ['node_modules/pg has no SHA-512', { integrity: undefined }],
    ['node_modules/pg has no SHA-512', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }],
    ['node_modules/pg names the place it comes from', { resolved: 'https://elsewhere.example/pg.tgz' }],
    ['node_modules/pg runs a program when it is installed', { hasInstallScript: true }],
    ['pg is locked at 0.0.1', { version: '0.0.1' }],
    ['pg is locked at npm:another@', { name: 'another' }],
  ])('would be found out: %s', (sentence, change) => {
    expect(checkLockfile(changed('node_modules/pg', change))).toEqual([expect.stringContaining(sentence)])
  })

  it('would be found out with a version that is not pinned', () => {
    const { manifest, console } = checkout
    const loose = { ...manifest, dependencies: { ...manifest.dependencies, pg: '^8.0.0' } }
    expect(checkLockfile({ ...checkout, manifest: loose })[0]).toContain('pg is not pinned')
    const looser = { dependencies: { ...console.dependencies, react: '^19.0.0' } }
    expect(checkLockfile({ ...checkout, console: looser })[0]).toContain('react is not pinned')
  })
})

describe('licences', () => {
  it('of what is shipped go with Apache-2.0', () => {
    expect(checkLicences(shipped)).toEqual([])
  })

  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['(MIT AND GPL-3.0-only)', false],
    ['AGPL-3.0-only', false],
    ['UNLICENSED', false],
    ['SEE LICENSE IN LICENSE', false],
  ])('%s: %s', (expression, isFine) => {
    expect(isCompatible(expression)).toBe(isFine)
  })

  it('that nobody has named are found', () => {
    const [first] = shipped
    expect(checkLicences(first === undefined ? [] : [{ ...first, license: undefined }])).toHaveLength(1)
  })
})

describe('the list of what is shipped', () => {
  const sbom = sbomOf(checkout)

  it('is what npm would install for production, and what is built into the console', () => {
    const asked = ['ls', '--package-lock-only', '--workspaces=false', '--omit=dev', '--all', '--parseable']
    const wanted = spawnSync('npm', asked, { cwd: ROOT, encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line.startsWith(`${ROOT}${path.sep}`))
      .map((line) => path.relative(ROOT, line).split(path.sep).join('/'))
    expect(wanted).toContain('node_modules/fastify')
    const listed = sbom.components.filter(({ properties }) => properties === undefined)
    expect(listed.map((one) => one['bom-ref']).toSorted()).toEqual(wanted.toSorted())
    const { packages } = checkout.lock
    expect(sbom.components.filter((one) => one.version !== packages[one['bom-ref']]?.version)).toEqual([])
    const builtIn = sbom.components.filter(({ properties }) => properties !== undefined).map(({ name }) => name)
    expect(builtIn).toEqual(expect.arrayContaining(['react', 'react-dom', '@mantine/core', '@tanstack/react-router']))
    expect(builtIn).not.toContain('vite')
  })

  it('names each with its version, checksum and licence, and leads from each to what it needs', () => {
    const refs = new Set(sbom.components.map((one) => one['bom-ref']))
    expect(refs.size).toBe(sbom.components.length)
    for (const one of sbom.components) {
      expect(one.purl).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d/)
      expect(one.hashes[0]?.content).toMatch(/^[0-9a-f]{128}$/)
      expect(one.licenses).toHaveLength(1)
    }
    const reached = new Set<string>()
    const follow = (ref: string): void => {
      if (reached.has(ref)) return
      reached.add(ref)
      for (const next of sbom.dependencies.find((one) => one.ref === ref)?.dependsOn ?? []) follow(next)
    }
    follow('escapement')
    expect([...refs].filter((ref) => !reached.has(ref))).toEqual([])
  })

  it('is the same text for the same lockfile, and another for another', () => {
    expect(sbomText(scripts.readCheckout(ROOT))).toBe(sbomText(checkout))
    expect(sbomOf(changed('node_modules/pg', { version: '9.0.0' })).serialNumber).not.toBe(sbom.serialNumber)
    expect(sbom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe('advisories', () => {
  const told = scripts.advisoriesIn({
    vulnerabilities: {
      pg: {
        via: [
          {
            url: 'https://github.com/advisories/GHSA-2222-3333-4444',
            name: 'pg',
            title: 'Bad',
            severity: 'high',
            source: 1,
          },
        ],
        nodes: ['node_modules/pg'],
      },
      vite: {
        via: [
          {
            url: 'https://github.com/advisories/GHSA-5555-6666-7777',
            name: 'vite',
            title: 'Bad',
            severity: 'low',
            source: 2,
          },
          'pg',
        ],
        nodes: ['node_modules/vite'],
      },
    },
  })
  const judge = (borne: readonly Borne[]) =>
    scripts.judgeAdvisories({ advisories: told, shipped, borne, today: '2026-06-01' })
  const reason = 'the function it is about is never called here'

  it('about what is shipped are findings, about tools they are told', () => {
    const { flaws, notes } = judge([])
    expect(flaws).toEqual([expect.stringContaining('GHSA-2222-3333-4444')])
    expect(notes).toEqual([expect.stringContaining('only in tools')])
  })

  it('are borne with a reason until a day, and not longer', () => {
    expect(judge([{ id: 'GHSA-2222-3333-4444', reason, expires: '2026-06-01' }]).flaws).toEqual([])
    expect(judge([{ id: 'GHSA-2222-3333-4444', reason, expires: '2026-05-31' }]).flaws[0]).toContain('which is over')
  })

  it('are not borne without a reason, a day or a name', () => {
    for (const one of [
      { id: 'GHSA-2222-3333-4444', reason: 'no', expires: '2027-01-01' },
      { id: 'GHSA-2222-3333-4444', reason, expires: 'never' },
      { id: 'pg', reason, expires: '2027-01-01' },
      { id: 'GHSA-2222-3333-4444', reason, expires: '2026-01-01' },
    ])
      expect(checkBorne([one], '2026-06-01')).toHaveLength(1)
    expect(checkBorne([{ id: 'GHSA-2222-3333-4444', reason, expires: '2027-01-01' }], '2026-06-01')).toEqual([])
  })
})

describe('npm run security', () => {
  it('says how it is called to whoever calls it otherwise', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/security.mjs', '--nonsense'], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    expect([status, stderr.split('\n')[0]]).toEqual([2, 'usage: npm run security [-- --offline | --online]'])
  })
})
