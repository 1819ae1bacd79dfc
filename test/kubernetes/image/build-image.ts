import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { assemble } from '../../../charts/image/assemble.ts'
import { belongsToCode } from '../../../charts/image/contents.ts'
import { goProgram } from '../cluster/programs.ts'
import { type ImageConfig, packImage } from './archive.ts'

const root = join(import.meta.dirname, '../../..')
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'fxd', 'images')
/** Of each image the newest so many stay. */
const cachedMax = 3

/** What the last stage of the Dockerfile says: a test compares them. */
export const config: ImageConfig = {
  User: '65532:65532',
  Entrypoint: [
    '/usr/local/bin/node',
    '--max-semi-space-size=8',
    '--heap-growing-percent=50',
    '/app/services/main.ts',
  ],
  Cmd: ['all'],
  WorkingDir: '/app',
  Env: ['PATH=/usr/local/bin', 'MALLOC_ARENA_MAX=2'],
  ExposedPorts: { '8080/tcp': {}, '8090/tcp': {}, '9464/tcp': {} },
}

/**
 * The image of the Dockerfile, made without Docker: the same files, with the Node and the libraries of this machine.
 * Gives the path of a docker-archive in the folder `into`, whose reference is `name`, such as `fxd:test`.
 */
export function buildImage(name: string, into: string): Promise<string> {
  const code = hashOf(
    [
      'services',
      'operator',
      'proto',
      'package.json',
      'package-lock.json',
      'charts/image',
      'test/kubernetes/image',
    ].flatMap((part) => filesOf(join(root, part))),
  )
  return cached({ name, into, key: [code, process.version, process.arch] }, (aside, file) => {
    assemble(aside)
    return packImage(file, {
      name,
      layers: ['base', 'packages', 'code'].map((layer) => join(aside, layer)),
      config,
    })
  })
}

const pauseSource = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

// Waits for its end, and for the processes that others left to it.
func main() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for s := range signals {
		if s != syscall.SIGCHLD {
			return
		}
		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
	}
}
`

/** The process that holds a pod's namespaces, as an image with no other file. Needs Go. */
export function buildPauseImage(name: string, into: string): Promise<string> {
  return cached({ name, into, key: [pauseSource, process.arch] }, (aside, file) => {
    const layer = join(aside, 'layer')
    mkdirSync(layer, { recursive: true })
    writeFileSync(join(aside, 'pause.go'), pauseSource)
    execFileSync(
      goProgram(),
      ['build', '-trimpath', '-ldflags=-s -w', '-o', join(layer, 'pause'), join(aside, 'pause.go')],
      {
        env: { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOFLAGS: '-buildvcs=false' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const run = { User: '65535:65535', Entrypoint: ['/pause'], WorkingDir: '/', Env: ['PATH=/'] }
    return packImage(file, { name, layers: [layer], config: run })
  })
}

interface Wanted {
  readonly name: string
  readonly into: string
  /** Everything that decides what is made. */
  readonly key: readonly string[]
}

/** Made aside and moved into the cache whole: two test runs may begin at once, and one may be stopped. */
export async function cached(
  { name, into, key }: Wanted,
  make: (aside: string, file: string) => Promise<void>,
): Promise<string> {
  const title = name.replaceAll(/[^\w.-]/g, '_')
  const file = `${title}-${createHash('sha256')
    .update([name, ...key].join('\n'))
    .digest('hex')
    .slice(0, 16)}.tar`
  const kept = join(cache, file)
  if (!existsSync(kept)) {
    mkdirSync(cache, { recursive: true })
    const aside = mkdtempSync(join(cache, 'making-'))
    try {
      await make(aside, join(aside, file))
      renameSync(join(aside, file), kept)
    } finally {
      rmSync(aside, { recursive: true, force: true })
    }
    forgetOld(title)
  }
  mkdirSync(into, { recursive: true })
  const path = join(into, file)
  copyFileSync(kept, path)
  return path
}

function forgetOld(title: string): void {
  const old = readdirSync(cache)
    .filter((name) => name.startsWith(`${title}-`))
    .map((name) => ({ path: join(cache, name), at: statSync(join(cache, name)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at)
    .slice(cachedMax)
  for (const { path } of old) rmSync(path, { force: true })
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && belongsToCode(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

function hashOf(files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file.slice(root.length)}\n`).update(readFileSync(file))
  return hash.digest('hex')
}
