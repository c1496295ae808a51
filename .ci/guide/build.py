"""Compiles the guide's programs: all of TypeScript with one tsc, all of Go with one go build."""

import json
import os
import re
import subprocess

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
SDK = os.path.join(ROOT, "infra/sdk/typescript/node_modules")
COMPILER = {"target": "es2022", "module": "nodenext", "strict": True, "skipLibCheck": True, "types": ["node"], "outDir": "out", "allowJs": True}


def build(programs, folder, python, steps):
    """Writes the programs into a folder and returns the command of each. steps are shell commands for the Go module."""
    folders = {"ts": "node", "js": "node", "python": "python", "go": "go"}
    for name in folders.values():
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    commands, imports, cases = [], [], []
    for program in programs:
        text = program.text if program.port is None else re.sub(r"\b8080\b", str(program.port), program.text)
        name = f"{program.page.removesuffix('.md').replace('-', '_')}_{program.line}"
        path = os.path.join(folder, folders[program.language], f"{name}.{program.language.replace('python', 'py')}")
        if program.language == "python":
            commands.append([python, "-B", "-u", path])
        elif program.language == "go":  # one binary links faster than many
            text, found = re.subn(r"(?m)^func main\(\)", "func Main()", text.replace("package main", f"package {name}", 1))
            assert found == 1, f"{program.place}: no func main"
            path = os.path.join(folder, "go", name, "main.go")
            imports.append(f'\t"guide/{name}"\n')
            cases.append(f'\tcase "{name}":\n\t\t{name}.Main()\n')
            commands.append([os.path.join(folder, "go/guide"), name])
        else:
            commands.append(["node", os.path.join(folder, "node/out", f"{name}.js")])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    node(os.path.join(folder, "node"))
    go(os.path.join(folder, "go"), imports, cases, steps)
    return commands


def node(folder):
    modules = os.path.join(folder, "node_modules")
    server = os.path.join(modules, "@recordbridge/server")
    os.makedirs(server)
    for name in os.listdir(SDK):
        os.symlink(os.path.join(SDK, name), os.path.join(modules, name))
    for name, value in {"package": {"type": "module"}, "tsconfig": {"compilerOptions": COMPILER, "include": ["*.ts", "*.js"]}}.items():
        with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump(value, file)
    archive = os.path.join(ROOT, "build/recordbridge-server-0.1.0.tgz")
    bash(f"tar -xzf {archive} -C {server} --strip-components 1\nnode {SDK}/typescript/bin/tsc", folder)


def go(folder, imports, cases, steps):
    with open(os.path.join(folder, "main.go"), "w", encoding="utf-8") as file:
        file.write(f'package main\n\nimport (\n\t"os"\n\n{"".join(imports)})\n\nfunc main() {{\n\tswitch os.Args[1] {{\n{"".join(cases)}\t}}\n}}\n')
    archive = os.path.join(ROOT, "build/recordbridge-go-0.1.0.tgz")
    bash(f"go mod init guide 2>/dev/null\ntar -xzf {archive}\n{steps}go build -o guide .", folder)


def bash(script, folder):
    done = subprocess.run(["bash", "-euc", script], cwd=folder, env=os.environ | {"GOFLAGS": ""}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the guide's programs don't compile:\n{done.stdout}{done.stderr}")
