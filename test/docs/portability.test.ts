import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'
import { textOf, trackedFiles } from './tracked-files.ts'

// What is committed has to mean the same on every machine.

interface LockedPackage {
  /** A package of this repository, by its folder: it has neither an address nor a checksum. */
  readonly link?: boolean
  readonly resolved?: string
  readonly integrity?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const files = trackedFiles()

describe('committed files', () => {
  it('name no directory of the machine they were written on', () => {
    const parent = path.dirname(ROOT) === path.parse(ROOT).root ? ROOT : path.dirname(ROOT)
    // Not preceded by a name, or a checkout in a directory called /src would forbid every relative import.
    const machinePath = new RegExp(`(?<![\\w.*-])${parent.replaceAll(/[^\w/]/g, '\\$&')}/`)
    expect(files.filter((file) => machinePath.test(textOf(file)))).toEqual([])
  })

  it('name no package registry, so that everybody installs from their own', () => {
    // Put together here, or this file would be the first finding.
    const host = new RegExp(['registry', '(npmjs|yarnpkg|npmmirror)', '(org|com)'].join('\\.'))
    expect(files.filter((file) => host.test(textOf(file)))).toEqual([])
  })

  it('pin packages by version and checksum, not by address', () => {
    const lock = JSON.parse(textOf('package-lock.json')) as {
      readonly packages: Readonly<Record<string, LockedPackage>>
    }
    const packages = Object.entries(lock.packages).filter(
      ([where, entry]) => where.includes('node_modules/') && entry.link !== true,
    )
    expect(packages.filter(([, entry]) => entry.resolved !== undefined)).toEqual([])
    expect(packages.filter(([, entry]) => entry.integrity === undefined)).toEqual([])
    // npm silently leaves out binaries of other platforms that it cannot find, and then refuses its own lockfile. The
    // overrides in package.json choose versions that are there for every platform.
    const optional = packages.flatMap(([, entry]) => Object.keys(entry.optionalDependencies ?? {}))
    expect(optional.filter((name) => lock.packages[`node_modules/${name}`] === undefined)).toEqual([])
  })

  it('pin direct packages exactly', () => {
    const pinned = ['package.json', 'ui/package.json'].flatMap((file) => {
      const { dependencies, optionalDependencies, devDependencies } = JSON.parse(textOf(file)) as Readonly<
        Record<'dependencies' | 'optionalDependencies' | 'devDependencies', Readonly<Record<string, string>>>
      >
      return Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies })
    })
    const loose = pinned.filter(([, version]) => !/^(?:\d|file:|npm:[^@]+@\d)/.test(version))
    expect(loose).toEqual([])
  })
})
