import { cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { assemble } from '../../../charts/image/assemble.ts'
import { belongsToCode } from '../../../charts/image/contents.ts'
import { earlierRelease } from '../../support/processes/earlier-release.ts'
import { packImage } from './archive.ts'
import { cached, codeHash, config } from './build-image.ts'

const folder = '/earlier'

/**
 * The earlier release has neither an operator nor the variables that the chart sets since. Its roles run with the
 * variables that it knows, and all of them with QuestDB's HTTP port; everything else runs as in this release.
 */
const start = `
const earlierRoles = ['rest', 'stream', 'ingest']
const isEarlier = earlierRoles.includes(process.argv[2])
if (isEarlier) {
  const { env } = process
  env.FXD_TOKEN_FILE ??= env.FXD_SHARD_TOKEN_FILE
  env.FXD_QUESTDB_HTTP ??= env.FXD_QUESTDB_PG.replace(/:.*/, ':9000')
  for (const name of ['FXD_SHARD_TOKEN_FILE', 'FXD_SIGNING_KEYS', 'FXD_LOG_FORMAT']) delete env[name]
}
await import(isEarlier ? '${folder}/services/main.ts' : '/app/services/main.ts')
`

/**
 * Builds an image whose rest, stream and ingest are those of the earlier release, for the chart of this
 * release. Both have one Node.
 */
export function buildEarlierImage(name: string, into: string): Promise<string> {
  const release = realpathSync(earlierRelease())
  const key = [codeHash(), release, process.version, process.arch]
  return cached({ name, into, key }, (aside, file) => {
    assemble(aside)
    const layer = join(aside, 'earlier')
    mkdirSync(join(layer, folder), { recursive: true })
    for (const part of ['services', 'proto', 'package.json', 'node_modules'])
      cpSync(join(release, part), join(layer, folder, part), {
        recursive: true,
        filter: (path) => part === 'node_modules' || belongsToCode(basename(path)),
      })
    writeFileSync(join(layer, folder, 'start.mjs'), start)
    const flags = config.Entrypoint.slice(0, -1)
    return packImage(file, {
      name,
      layers: [...['base', 'packages', 'code'].map((each) => join(aside, each)), layer],
      config: { ...config, Entrypoint: [...flags, `${folder}/start.mjs`] },
    })
  })
}
