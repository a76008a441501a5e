"""The CI job that keeps the committed index current on the default branch.

In: the settings that matter to it. Out: a workflow for GitHub Actions, a job for GitLab CI. Invariant: the
job writes `.pkb` alone, does not start itself again, and holds no secret: keys come from the host's own
store.
"""

from dataclasses import dataclass

GITHUB_FILE = ".github/workflows/git-pkb.yml"
GITLAB_FILE = ".gitlab-ci.yml"
GITHUB_MARK = (
    "# Written by `git pkb init`: run it again to bring this file up to date, `--uninstall` to remove it."
)
_AWS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@dataclass(frozen=True, slots=True)
class Job:
    """`branch`: the default one; `provider`: of the embeddings; `variable`: of its key, if it needs one."""

    branch: str
    provider: str
    variable: str | None

    @property
    def package(self) -> str:
        """What pip installs."""
        return "git-pkb[bedrock]" if self.provider == "bedrock" else "git-pkb"

    @property
    def variables(self) -> tuple[str, ...]:
        """The secrets the job needs."""
        return _AWS if self.provider == "bedrock" else (self.variable,) if self.variable else ()

    @property
    def trusts(self) -> bool:
        """Whether the tracked settings need the job's consent."""
        return self.provider not in ("local", "none", "mock")


def github(job: Job) -> str:
    """The whole workflow file."""
    environment = "".join(f"          {name}: ${{{{ secrets.{name} }}}}\n" for name in job.variables)
    if environment:
        environment = f"        env:\n{environment}"
    trust = "          git pkb config trust\n" if job.trusts else ""
    return f"""\
{GITHUB_MARK}
name: git pkb

on:
  push:
    branches: ["{job.branch}"]
    paths-ignore: [".pkb/index/**"]
  workflow_dispatch:

permissions:
  contents: write

concurrency:
  group: git-pkb
  cancel-in-progress: false

jobs:
  index:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install "{job.package}"
      - name: Bring the index up to date
{environment}        run: |
{trust}          git pkb reindex --write
      # a push with the job's own token starts no workflow, so this does not run itself again
      - name: Commit it
        run: |
          git add --all .pkb
          git diff --cached --quiet && exit 0
          git config user.name "github-actions[bot]"
          git config user.email "41898282+github-actions[bot]@users.noreply.github.com"
          git commit --quiet --message "Refresh the git pkb index"
          git push || {{ git pull --rebase && git push; }}
"""


def gitlab(job: Job, *, alone: bool) -> str:
    """The job, to stand at the top level of .gitlab-ci.yml; `alone`: there is no other job in that file."""
    stage = "" if alone else "  stage: .post\n"
    trust = "    - git pkb config trust\n" if job.trusts else ""
    needs = "".join(f"#   {name}: the key of the embedding provider, masked\n" for name in job.variables)
    return f"""\
# Variables to set in the project's CI settings:
#   PKB_PUSH_TOKEN: a project access token that may push (`write_repository`), masked
{needs}git-pkb:
{stage}  image: python:3.12
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $CI_PIPELINE_SOURCE == "push"
  resource_group: git-pkb
  variables:
    GIT_DEPTH: "0"
  script:
    - pip install "{job.package}"
{trust}    - git pkb reindex --write
    - git add --all .pkb
    - git diff --cached --quiet && exit 0
    - git config user.name "git pkb"
    - git config user.email "git-pkb@$CI_SERVER_HOST"
    - git commit --quiet --message "Refresh the git pkb index"
    - remote="https://git-pkb:$PKB_PUSH_TOKEN@$CI_SERVER_HOST/$CI_PROJECT_PATH.git"
    - git push --push-option=ci.skip "$remote" "HEAD:$CI_DEFAULT_BRANCH"
"""
