# GNU make 3.81 (macOS) and later.  `make` alone prints what there is.
#
# What has been made is remembered in stamp files: one in .venv for each layer of packages, one in
# .stamps for each chapter and format, beside a list of its pictures so that a lost one is missed.

PYTHON   = python3
FORMATS  = svg
FORM     = a4
CHAPTERS = $(ALL)

ALL    := $(filter-out draw,$(sort $(patsubst figures/%.py,%,$(wildcard figures/*.py))))
VENV   := .venv
PY     := $(VENV)/bin/python
CHOSEN = $(if $(filter command,$(origin CHAPTERS)),$(CHAPTERS))
STEADY := OPENBLAS_NUM_THREADS=1 PYTHONHASHSEED=0 $(PY)
PIP    := $(PY) -m pip install --quiet --disable-pip-version-check --editable

unexport MPLBACKEND PYTHONPATH
.DELETE_ON_ERROR:
.PHONY: help figures test lab notebooks site book slides student bench interop claims lint clean

help: ## print this list
	@echo "make TARGET, where TARGET is"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile
	@echo "PYTHON=python3.12 names another Python (3.11 or later) for the virtual environment."

lab: $(VENV)/stamp-test ## open the notebooks in JupyterLab
	$(PY) -m jupyter lab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks
figures: ## draw the figures that changed; CHAPTERS="svm pca" and FORMATS="svg png pdf gif" choose
test: lint $(VENV)/stamp-test ## lint, then every test, docstring example and notebook, in two processes
	$(STEADY) -m pytest -q -n 2 --dist loadfile --nbval --nbval-current-env --nbval-cell-timeout=300 tests mlnotes notebooks
notebooks: $(VENV)/stamp-test ## execute the notebooks in place; CHAPTERS chooses
	$(STEADY) notebooks/execute.py $(CHOSEN)
site: $(VENV)/stamp-test ## make the whole book as a folder of pages, _site, that opens by a double click
	$(STEADY) notebooks/site/build_site.py
	@echo "Open _site/index.html in a browser."
book: $(VENV)/stamp-book ## make _book.pdf and _book.epub; CHAPTERS chooses, and so does FORM=tablet
	$(STEADY) notebooks/site/book.py --form $(FORM) $(CHOSEN)
slides: $(VENV)/stamp-book ## make a deck of slides for each chapter in _slides; CHAPTERS chooses
	$(STEADY) notebooks/site/slides.py $(CHOSEN)
student: $(VENV)/stamp-test ## make _student.zip and _instructor.zip, to hand out; CHAPTERS chooses
	$(PY) notebooks/student.py $(CHOSEN)
bench: $(VENV)/stamp-bench ## measure speed and objective beside scikit-learn's; CHAPTERS chooses
	$(PY) tests/benchmarks/bench.py $(CHOSEN)
interop: $(VENV)/stamp-bench ## run scikit-learn's own checks on every estimator
	$(PY) -m pytest -q tests/benchmarks/interop.py
claims: $(VENV)/stamp-figures ## count the statements, walks and algorithms that are delivered; name the rest
	$(PY) -m mlnotes claims
lint: $(VENV)/stamp-package ## check the style of the code, and print its measures
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) tests/measures.py
clean: ## remove what make made and git does not keep, except the virtual environment
	rm -rf .stamps .pytest_cache .ruff_cache _site _slides _book.* _student.zip _instructor.zip
	rm -f figures/*/*.png figures/*/*.pdf figures/*/*.gif
	find figures mlnotes notebooks tests -name __pycache__ -type d -prune -exec rm -rf {} +

# --- The virtual environment, in layers, each on the one before it -----------------------------

OLD = $(PYTHON) is not Python 3.11 or later; name one that is: make PYTHON=python3.12 ...

$(VENV)/stamp-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo '$(OLD)' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@
$(VENV)/stamp-figures: pyproject.toml $(VENV)/stamp-python
	$(PIP) '.[figures]'
	@touch $@
$(VENV)/stamp-package: $(VENV)/stamp-figures
	$(PIP) '.[package]'
	@touch $@
$(VENV)/stamp-test: $(VENV)/stamp-package
	$(PIP) '.[test]'
	@touch $@
$(VENV)/stamp-book: $(VENV)/stamp-test
	$(PIP) '.[book]'
	@touch $@
$(VENV)/stamp-bench: $(VENV)/stamp-test
	$(PIP) '.[bench]'
	@touch $@

# --- The figures: one run of a chapter's script for each format ---------------------------------

UNKNOWN := $(filter-out $(ALL),$(CHAPTERS)) $(filter-out svg png pdf gif,$(FORMATS))
ifneq ($(strip $(UNKNOWN)),)
$(error no such chapter or format: $(strip $(UNKNOWN)) (chapters: $(ALL); formats: svg png pdf gif))
endif

# The list beside a stamp names the modules that the pictures were drawn with, and the pictures, so
# that one that is lost is drawn again. It stands for no data: these are named here.
DATA := $(filter-out %/claims.csv,$(wildcard mlnotes/data/*))

# The rule for the pictures of chapter $(1) in format $(2). The stamp says when they were drawn.
define pictures
figures: .stamps/$(1).$(2)
.stamps/$(1).$(2): figures/$(1).py $(DATA) | $(VENV)/stamp-figures
	$(STEADY) figures/draw.py $(1) $(2)
	@touch $$@
-include .stamps/$(1).$(2).list
endef
$(foreach chapter,$(sort $(CHAPTERS)),$(foreach format,$(sort $(FORMATS)),\
	$(eval $(call pictures,$(chapter),$(format)))))
