import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Program and user of the image's containers, in the terms of the OCI image format. */
export interface ImageConfig {
  readonly User: string
  readonly Entrypoint: readonly string[]
  readonly Cmd?: readonly string[]
  readonly WorkingDir: string
  readonly Env: readonly string[]
  readonly Labels?: Readonly<Record<string, string>>
  readonly ExposedPorts?: Readonly<Record<string, object>>
}

/** A folder, or one whose content belongs to another user than root. */
type Layer = string | { readonly folder: string; readonly owner: number }

/**
 * Packs folders as the layers of an image into a docker-archive at `file`, for `ctr images import`. Equal folders
 * produce equal bytes: entries are sorted, belong to one user and are dated at the epoch.
 */
export async function packImage(
  file: string,
  image: { readonly name: string; readonly layers: readonly Layer[]; readonly config: ImageConfig },
): Promise<void> {
  const aside = `${file}.parts`
  mkdirSync(aside, { recursive: true })
  const layers = image.layers.map((_, i) => `layer-${i}.tar`)
  for (const [i, layer] of image.layers.entries()) {
    const to = join(aside, layers[i] ?? '')
    if (typeof layer === 'string') pack(to, layer, ['.'])
    // The root of the image stays root's.
    else
      pack(
        to,
        layer.folder,
        readdirSync(layer.folder).map((name) => `./${name}`),
        layer.owner,
      )
  }
  const digests = await Promise.all(layers.map((layer) => sha256Of(join(aside, layer))))
  const config = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config: image.config,
    rootfs: { type: 'layers', diff_ids: digests.map((digest) => `sha256:${digest}`) },
    history: layers.map(() => ({ created: '1970-01-01T00:00:00Z' })),
  }
  writeFileSync(join(aside, 'config.json'), JSON.stringify(config))
  const manifest = [{ Config: 'config.json', RepoTags: [image.name], Layers: layers }]
  writeFileSync(join(aside, 'manifest.json'), JSON.stringify(manifest))
  pack(file, aside, ['manifest.json', 'config.json', ...layers])
}

function pack(file: string, folder: string, entries: readonly string[], owner = 0): void {
  const owned = [`--owner=${owner}`, `--group=${owner}`, '--numeric-owner']
  const same = ['--sort=name', '--mtime=@0', ...owned, '--format=gnu']
  execFileSync('tar', [...same, '--mode=u+rw,go+r-w,a+X', '-C', folder, '-cf', file, ...entries])
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
