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
/** Maximum cached archives per image; older ones are deleted. */
const cachedMax = 3

/** The configuration of the Dockerfile's last stage. A test compares them. */
export const config: ImageConfig = {
  User: '65532:65532',
  Entrypoint: [
    '/usr/local/bin/node',
    '--expose-gc',
    '--min-semi-space-size=16',
    '--max-semi-space-size=16',
    '--no-parallel-scavenge',
    '--heap-growing-percent=50',
    '/app/services/main.ts',
  ],
  Cmd: ['all'],
  WorkingDir: '/app',
  Env: [
    'PATH=/usr/local/bin',
    'MALLOC_ARENA_MAX=2',
    'FXD_DATA_DIR=/data',
    'FXD_HTTP_ADDR=0.0.0.0:8080',
    'FXD_GRPC_ADDR=0.0.0.0:8090',
    'FXD_OPS_ADDR=0.0.0.0:9464',
  ],
  ExposedPorts: { '8080/tcp': {}, '8090/tcp': {}, '9464/tcp': {} },
  // Version and revision are arguments of the Dockerfile's build.
  Labels: {
    'org.opencontainers.image.title': 'fxd',
    'org.opencontainers.image.description':
      'A market data service: live and historical OHLCV bars over REST and WebSocket',
    'org.opencontainers.image.licenses': 'Apache-2.0',
  },
}

/**
 * Builds the image of the Dockerfile without Docker: the same files, with the Node and the libraries of this machine.
 * Resolves with the path of a docker-archive in the folder `into`; its reference is `name`, such as `fxd:test`.
 */
export function buildImage(name: string, into: string): Promise<string> {
  return cached({ name, into, key: [codeHash(), process.version, process.arch] }, (aside, file) => {
    assemble(aside)
    return packImage(file, {
      name,
      layers: [
        ...['base', 'packages', 'code'].map((layer) => join(aside, layer)),
        { folder: join(aside, 'data'), owner: 65_532 },
      ],
      config,
    })
  })
}

/** Hash of the files that determine an image of this release. */
export const codeHash = (): string =>
  hashOf(
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

/** Builds an image with only the process that keeps a pod's namespaces. Requires Go. */
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
  /** All inputs that determine the result. */
  readonly key: readonly string[]
}

/** Builds outside of the cache, then moves the result into it: test runs may run in parallel or be stopped. */
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
