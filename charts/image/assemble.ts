import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { belongsToCode, belongsToPackage, productionPackages } from './contents.ts'

const root = join(import.meta.dirname, '../..')
const node = '/usr/local/bin/node'

/** The only users are root and fxd, without a shell. Host names are resolved by /etc/hosts first. */
const etc = {
  passwd: 'root:x:0:0:root:/:/nonexistent\nfxd:x:65532:65532:fxd:/nonexistent:/nonexistent\n',
  group: 'root:x:0:\nfxd:x:65532:\n',
  'nsswitch.conf': 'hosts: files dns\n',
}

/**
 * Writes the layers of the image below `into`: `base` (this Node and its shared libraries), `packages` (the production
 * part of node_modules), `code`, and `data`, an empty folder that belongs to the user of the image. The Dockerfile and the images of the tests use these layers.
 * Requires installed packages, `ldd` and `npm`.
 */
export function assemble(into: string): void {
  assembleBase(join(into, 'base'))
  assemblePackages(join(into, 'packages/app'))
  assembleCode(join(into, 'code/app'))
  mkdirSync(join(into, 'data/data'), { recursive: true })
}

function assembleBase(base: string): void {
  for (const [from, to] of [[process.execPath, node] as const, ...linked(process.execPath)]) {
    mkdirSync(dirname(join(base, to)), { recursive: true })
    copyFileSync(from, join(base, to))
  }
  mkdirSync(join(base, 'etc'))
  for (const [name, text] of Object.entries(etc)) writeFileSync(join(base, 'etc', name), text)
}

/** The shared libraries of a program and its loader, as pairs of paths: here and in the image. */
export function linked(
  program: string,
  env: Readonly<Record<string, string>> = {},
): (readonly [from: string, to: string])[] {
  const output = execFileSync('ldd', [program], { encoding: 'utf8', env: { ...process.env, ...env } })
  const paths = [...output.matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) => path ?? [])
  if (paths.length < 2) throw new Error(`ldd lists no libraries of ${program}:\n${output}`)
  return paths.map((path) => [path, path] as const)
}

function assemblePackages(app: string): void {
  for (const { path } of productionPackages(root)) {
    const own = join(root, path)
    cpSync(own, join(app, path), {
      recursive: true,
      // Nested packages have separate entries in the lock file.
      filter: (file) =>
        file === own || belongsToPackage(file.slice(own.length + 1), statSync(file).isDirectory()),
    })
  }
}

function assembleCode(app: string): void {
  for (const part of ['services', 'operator', 'clients/typescript/src', 'proto', 'package.json', 'LICENSE']) {
    cpSync(join(root, part), join(app, part), {
      recursive: true,
      filter: (file) => belongsToCode(basename(file)),
    })
  }
  writeFileSync(join(app, 'sbom.cdx.json'), `${JSON.stringify(sbom(), undefined, 2)}\n`)
}

interface Sbom {
  readonly serialNumber: string
  readonly metadata: { readonly timestamp?: string; readonly component: { readonly 'bom-ref': string } }
  readonly components: readonly { readonly 'bom-ref': string }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/**
 * CycloneDX of the packages in the image, without the fields that differ in each run. npm lists all packages here,
 * because with `--omit=dev` it also leaves out some production packages.
 */
function sbom(): object {
  const text = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const { serialNumber: _, metadata, ...whole } = JSON.parse(text) as Sbom
  const packages = new Set(productionPackages(root).map(({ name, version }) => `${name}@${version}`))
  const components = whole.components.filter((each) => packages.has(each['bom-ref']))
  const refs = new Set([metadata.component['bom-ref'], ...packages])
  const dependencies = whole.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }))
  // npm uses the name of the folder.
  const component = { ...metadata.component, name: 'fxd' }
  return { ...whole, metadata: { ...metadata, component, timestamp: undefined }, components, dependencies }
}

if (process.argv[1] === import.meta.filename) {
  const [into] = process.argv.slice(2)
  if (into === undefined) throw new Error('usage: assemble.ts FOLDER')
  assemble(into)
}
