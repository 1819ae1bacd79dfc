import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { linked } from '../../../charts/image/assemble.ts'
import { fetchJava, questdbParts } from '../../support/questdb/parts.ts'
import { redisProgram } from '../../support/redis/server.ts'
import { packImage } from './archive.ts'
import { cached } from './build-image.ts'

const libraries = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`
/** Tools that the chart's probes, its backup and the documented restore use. */
const tools = 'sh grep curl flock tar base64 date wc ls sort tail rm mv sync touch'.split(' ')

/**
 * Builds one image in place of the public images of QuestDB, Redis and buildpack-deps, with the programs of the other
 * tests. Without a command it starts QuestDB.
 */
export function buildStoresImage(name: string, into: string): Promise<string> {
  const { jar } = questdbParts()
  const java = fetchJava()
  const redis = redisServer()
  return cached(
    { name, into, key: [readFileSync(import.meta.filename, 'utf8'), jar, java, redis.command] },
    async (aside, file) => {
      const layer = join(aside, 'layer')
      const runtime = dirname(dirname(java))
      cpSync(runtime, join(layer, 'opt/java'), { recursive: true, dereference: true })
      copyInto(layer, jar, '/opt/questdb.jar')
      for (const part of [java, ...globSync(join(runtime, 'lib/**/*.so'))])
        copyLibraries(layer, part, { not: runtime })
      for (const program of ['redis-server', 'redis-cli'])
        copyProgram(layer, join(dirname(redis.command), program), redis.env)
      for (const tool of tools) copyProgram(layer, pathOf(tool))
      copyInto(layer, pathOf('sh'), '/bin/sh')
      mkdirSync(join(layer, 'etc'))
      writeFileSync(join(layer, 'etc/nsswitch.conf'), 'hosts: files dns\n')
      await packImage(file, {
        name,
        layers: [layer],
        config: {
          User: '10001:10001',
          Entrypoint: ['/opt/java/bin/java', '-XX:+UseParallelGC', '-p', '/opt/questdb.jar'],
          Cmd: ['-m', 'io.questdb/io.questdb.ServerMain', '-d', '/var/lib/questdb'],
          WorkingDir: '/',
          Env: ['PATH=/usr/bin:/bin'],
        },
      })
    },
  )
}

function redisServer(): { readonly command: string; readonly env: Readonly<Record<string, string>> } {
  const { command, env } = redisProgram()
  return { command: existsSync(command) ? command : pathOf(command), env }
}

const pathOf = (program: string): string =>
  execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim()

function copyProgram(layer: string, path: string, env: Readonly<Record<string, string>> = {}): void {
  copyInto(layer, path, `/usr/bin/${basename(path)}`)
  copyLibraries(layer, path, { env })
}

/** Copies the loader and the C library to their standard paths, and all other libraries next to them. */
function copyLibraries(
  layer: string,
  program: string,
  { env = {}, not }: { readonly env?: Readonly<Record<string, string>>; readonly not?: string },
): void {
  for (const [from, to] of linked(program, env)) {
    if (not !== undefined && from.startsWith(not)) continue
    copyInto(layer, from, basename(to).startsWith('ld-linux') ? to : join(libraries, basename(to)))
  }
}

function copyInto(layer: string, from: string, to: string): void {
  const path = join(layer, to)
  mkdirSync(dirname(path), { recursive: true })
  copyFileSync(from, path)
}
