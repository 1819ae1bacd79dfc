import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs'
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

/**
 * Packs folders as the layers of an image into a docker-archive at `file`, for `ctr images import`. Equal folders
 * produce equal bytes: entries are sorted, belong to root and are dated at the epoch.
 */
export async function packImage(
  file: string,
  image: { readonly name: string; readonly layers: readonly string[]; readonly config: ImageConfig },
): Promise<void> {
  const aside = `${file}.parts`
  mkdirSync(aside, { recursive: true })
  const layers = image.layers.map((_, i) => `layer-${i}.tar`)
  for (const [i, folder] of image.layers.entries()) pack(join(aside, layers[i] ?? ''), folder, ['.'])
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

function pack(file: string, folder: string, entries: readonly string[]): void {
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']
  execFileSync('tar', [...same, '--mode=u+rw,go+r-w,a+X', '-C', folder, '-cf', file, ...entries])
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
