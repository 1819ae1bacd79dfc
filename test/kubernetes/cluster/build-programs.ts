import { contourProgram, envoyProgram, kubernetesPrograms, nodePackages } from './programs.ts'

/** Builds or fetches what a cluster needs before the first test: workers that begin at once would each do it. */
export default function setup(): void {
  kubernetesPrograms()
  contourProgram()
  envoyProgram()
  nodePackages()
}
