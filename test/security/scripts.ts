import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../tooling/root.ts'

interface Entry {
  readonly name?: string | undefined
  readonly version?: string | undefined
  readonly integrity?: string | undefined
  readonly resolved?: string | undefined
  readonly license?: string | undefined
  readonly hasInstallScript?: boolean | undefined
  readonly dev?: boolean | undefined
  readonly devOptional?: boolean | undefined
}

/** A manifest and the lockfile that belongs to it, as far as the scripts look at them. */
export interface Checkout {
  readonly manifest: { readonly dependencies: Readonly<Record<string, string>> }
  readonly console: { readonly dependencies: Readonly<Record<string, string>> }
  readonly lock: { readonly packages: Readonly<Record<string, Entry>> }
}

export interface Shipped {
  readonly place: string
  readonly name: string
  readonly license?: string | undefined
}

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly hashes: readonly { readonly content: string }[]
  readonly licenses: readonly unknown[]
  readonly properties?: readonly unknown[]
}

interface Sbom {
  readonly serialNumber: string
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

export interface Borne {
  readonly id: string
  readonly reason: string
  readonly expires: string
}

interface Scripts {
  readonly readCheckout: (root: string) => Checkout
  readonly installedIn: (lock: Checkout['lock']) => readonly (readonly [string, Entry])[]
  readonly shippedPackages: (checkout: Checkout) => readonly Shipped[]
  readonly checkLockfile: (checkout: Checkout) => readonly string[]
  readonly checkLicences: (shipped: readonly Shipped[]) => readonly string[]
  readonly isCompatible: (expression: string) => boolean
  readonly sbomOf: (checkout: Checkout) => Sbom
  readonly sbomText: (checkout: Checkout) => string
  readonly advisoriesIn: (report: { readonly vulnerabilities: unknown }) => readonly unknown[]
  readonly judgeAdvisories: (asked: {
    readonly advisories: readonly unknown[]
    readonly shipped: readonly Shipped[]
    readonly borne: readonly Borne[]
    readonly today: string
  }) => { readonly flaws: readonly string[]; readonly notes: readonly string[] }
  readonly proofsIn: (root: string) => readonly string[]
  readonly checkProofs: (root: string) => readonly string[]
  readonly checkBorne: (borne: readonly Borne[], today: string) => readonly string[]
}

/** Everything that the scripts of `npm run security` can do. They are plain JavaScript, which the compiler does not read. */
export async function loadScripts(): Promise<Scripts> {
  const names = ['packages', 'lockfile', 'licences', 'sbom', 'advisories', 'proofs']
  const load = (name: string): Promise<object> =>
    import(pathToFileURL(path.join(ROOT, `scripts/security/${name}.mjs`)).href) as Promise<object>
  return Object.assign({}, ...(await Promise.all(names.map(load)))) as Scripts
}
