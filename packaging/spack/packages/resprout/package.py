"""Resprout for Spack.

spack repo add packaging/spack
spack develop --no-clone --path $PWD resprout@main && spack install resprout@main
"""

from spack.package import *


class Resprout(CMakePackage):
    """Keeps MPI programs running when processes die."""

    license("Apache-2.0")

    # The work tree that `spack develop` names; releases get their versions here.
    version("main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-pip", type="build")
    depends_on("py-scikit-build-core@1:", type="build")
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-typer@0.29:", type=("build", "run"))
    depends_on("py-rich@13.9:", type=("build", "run"))
    # An MPI that can lose processes.
    depends_on("openmpi@5:5", type=("build", "link", "run"))

    extends("python")
    generator("ninja")

    def cmake_args(self):
        return [
            self.define("RESPROUT_TESTS", False),
            self.define("RESPROUT_UNITE", True),
            self.define("RESPROUT_MPICC", self.spec["openmpi"].prefix.bin.mpicc),
            self.define("Python3_EXECUTABLE", python.path),
        ]

    @run_after("install")
    def install_command(self):
        """The command, of what is built already."""
        package = join_path(self.build_directory, "package")
        cmake("--install", self.build_directory, "--component", "python", "--prefix", package)
        prebuilt = join_path(package, "resprout")
        pip(
            *std_pip_args, f"--prefix={self.prefix}",
            f"--config-settings=cmake.define.RESPROUT_PREBUILT={prebuilt}", self.stage.source_path,
        )  # fmt: skip

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def lose_two_processes(self):
        Executable(self.prefix.bin.resprout)("demo")
