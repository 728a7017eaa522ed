import { createHash } from 'node:crypto'
import { shippedPackages } from './packages.mjs'

const purlOf = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** The SHA-512 of a lockfile entry in the format of CycloneDX. */
const hashOf = ({ integrity = '' }) => {
  const [, digest] = /^sha512-(.+)$/.exec(integrity) ?? []
  return digest === undefined ? [] : [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }]
}

const licenceOf = ({ license }) => {
  if (license === undefined) return {}
  return { licenses: [/ (OR|AND) /.test(license) ? { expression: license } : { license: { id: license } }] }
}

const componentOf = (shipped) => ({
  type: 'library',
  'bom-ref': refOf(shipped),
  name: shipped.name,
  version: shipped.version,
  scope: shipped.optional ? 'optional' : 'required',
  purl: purlOf(shipped),
  hashes: hashOf(shipped),
  ...licenceOf(shipped),
  ...(shipped.builtIn ? { properties: [{ name: 'escapement:built-into', value: 'dist/ui' }] } : {}),
})

/** The place identifies a component, because a package may be installed in two versions. */
const refOf = ({ place }) => place

/**
 * The SBOM of all shipped packages, as CycloneDX 1.5. It is created from the lockfile alone, without times and random
 * values, so the same lockfile always gives the same text.
 */
export function sbomOf(checkout) {
  const { manifest } = checkout
  const shipped = shippedPackages(checkout)
  const self = { name: manifest.name, version: manifest.version, license: manifest.license }
  const direct = shipped.filter(({ place, name }) => place === `node_modules/${name}`)
  const wanted = new Set([...Object.keys(manifest.dependencies), ...Object.keys(manifest.optionalDependencies ?? {})])
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: serialOf(JSON.stringify([self, shipped])),
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: {
        ...{ type: 'application', 'bom-ref': 'escapement', name: self.name, version: self.version },
        ...{ purl: purlOf(self), ...licenceOf(self) },
      },
    },
    components: shipped.map(componentOf),
    dependencies: [
      {
        ref: 'escapement',
        dependsOn: direct.filter(({ name, builtIn }) => wanted.has(name) || builtIn).map(refOf),
      },
      ...shipped.map((one) => ({ ref: refOf(one), dependsOn: one.needs })),
    ],
  }
}

/** A UUID derived from the content. */
function serialOf(text) {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex[16], 16) & 0x3) | 0x8).toString(16)
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
  return `urn:uuid:${parts.join('-')}`
}

/** The SBOM as text. */
export const sbomText = (checkout) => `${JSON.stringify(sbomOf(checkout), null, 2)}\n`
